import path from 'node:path';
import { deviceOf, identityOf } from '../disk/tree';
import { isInside } from '../disk/reader';
import type { MoveCheckoutStep } from '../plan/plan';
import { inspectCheckout, type CheckoutWork } from '../workspaces/inspect';
import { locateCheckout } from '../workspaces/locate';
import type { Endpoint, SessionRecord } from '../workItems/sessionRecord';
import type { Message } from '../../protocol/message';
import type { ResetRequest } from './resetFacts';

/** A checkout that the close policy takes away with its session, or why it stays. */
export interface CheckoutFacts {
  ref: string;
  path: string;
  moves: MoveCheckoutStep['moves'];
  /** What is in it, for a person; absent when it is no git checkout. */
  work?: CheckoutWork;
  /** Something is in it that is nowhere else but in the trash. */
  unsaved: boolean;
  reason: string;
  undo: 'restore' | 'none';
  notices: Message[];
  /** It stays, and the reset goes on. */
  keptBecause?: Message;
  /** The whole item is refused. */
  refusal?: Message;
}
