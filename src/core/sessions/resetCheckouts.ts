import path from 'node:path';
import { sha256 } from '../disk/hash';
import { deviceOf, identityOf } from '../disk/tree';
import { isInside, realPath, type Reader } from '../disk/reader';
import type { MoveCheckoutStep } from '../plan/plan';
import { inspectCheckout, type CheckoutWork, type Inspection } from '../workspaces/inspect';
import { locateCheckout, type CheckoutPlace } from '../workspaces/locate';
import type { Endpoint, SessionRecord } from '../workItems/sessionRecord';
import { isLive } from '../workItems/sessionRecord';
import type { Message } from '../../protocol/message';
import type { ResetRequest } from './resetFacts';

/** A checkout that the close policy takes away with its session, or why it stays. */
export interface CheckoutFacts {
  path: string;
  /** The checkout, then git's own record of it; empty when it stays. */
  moves: MoveCheckoutStep['moves'];
  /** What is in it, for a person; absent when it is no git checkout. */
  work?: CheckoutWork;
  /** Something is in it that is nowhere else but in the trash. */
  unsaved: boolean;
  notices: Message[];
  /** It stays, and the reset goes on. */
  keptBecause?: Message;
  /** The whole item is refused. */
  refusal?: Message;
}

/**
 * The checkouts of the sessions that end, by the close policy (the-loop §1.11): found from refs and configuration, looked into by git.
 * `others`: live records that this reset does not touch; `goingOn`: sessions whose record goes while their agent runs on (`shared-terminal`).
 * A checkout that one of them works in stays, and one that cannot be looked into is never removed unseen.
 */
export async function checkoutsToGo(request: ResetRequest, reader: Reader, ending: readonly Endpoint[], others: readonly SessionRecord[], goingOn: readonly Endpoint[]): Promise<CheckoutFacts[]> {
  const found: CheckoutFacts[] = [];
  for (const endpoint of ending) {
    const place = locateCheckout(reader, request.config, endpoint.ref);
    if (place.kind === 'unsafe') {
      found.push({ ...kept(place.path), refusal: { kind: 'unsafe-path', message: `${place.why}; nothing of the item was changed` } });
    } else if (place.kind === 'place' && place.exists && !found.some((other) => other.path === place.path)) {
      found.push(await factsOf(request, place, others, goingOn));
    }
  }
  return found;
}

const kept = (checkout: string): CheckoutFacts => ({ path: checkout, moves: [], unsaved: false, notices: [] });

async function factsOf(request: ResetRequest, place: CheckoutPlace, others: readonly SessionRecord[], goingOn: readonly Endpoint[]): Promise<CheckoutFacts> {
  if (request.config.workspace.keepCheckoutOnClose) return { ...kept(place.path), keptBecause: { kind: 'kept-by-config', message: 'routing.workspace.keepCheckoutOnClose is set' } };
  // A record may name the folder by way of a link.
  const real = realPath(place.path);
  const worksIn = ({ cwd }: Endpoint): boolean => path.isAbsolute(cwd) && (isInside(place.path, cwd) || isInside(real, realPath(cwd)));
  const user = others.find((record) => [record, ...record.pullRequests].some((endpoint) => isLive(endpoint) && worksIn(endpoint)));
  if (user) return { ...kept(place.path), keptBecause: { kind: 'in-use', message: `the live session of ${user.ref.ref} works in it` } };
  const running = goingOn.find(worksIn);
  if (running) return { ...kept(place.path), keptBecause: { kind: 'in-use', message: `the agent of ${running.ref.ref} goes on in it, as its terminal is shared` } };
  const inspection = await inspectCheckout(place, { git: request.mayExecute ? request.git : null, env: request.env, ...(request.signal ? { signal: request.signal } : {}) });
  const stays = reasonToStay(inspection);
  if (stays) return { ...kept(place.path), keptBecause: stays };
  if (inspection.kind !== 'git' && inspection.kind !== 'plain') {
    const kind = inspection.kind === 'no-git' ? 'no-git' : 'git-failed';
    return { ...kept(place.path), refusal: { kind, message: `what is uncommitted in ${place.path} cannot be told (${inspection.why}), so nothing of the item was changed` } };
  }
  const adminDir = inspection.kind === 'git' ? inspection.worktree?.adminDir : undefined;
  const unsaved = inspection.kind === 'git' ? hasUnsaved(inspection.work) : inspection.files > 0;
  return {
    path: place.path, moves: movesOf(request, place, adminDir), unsaved, notices: noticesOf(inspection, place),
    ...(inspection.kind === 'git' ? { work: inspection.work } : {}),
  };
}

/** What a person, or git, said about it that a reset respects. */
function reasonToStay(inspection: Inspection): Message | undefined {
  if (inspection.kind !== 'git') return undefined;
  const locked = inspection.worktree?.locked;
  if (locked !== undefined && locked !== null) return { kind: 'locked-worktree', message: `git worktree lock holds it${locked === '' ? '' : ` (${locked})`}` };
  if (inspection.strangeLink !== null) return { kind: 'strange-worktree', message: inspection.strangeLink };
  const linked = inspection.linkedWorktrees[0];
  return linked === undefined ? undefined : { kind: 'linked-worktree', message: `the worktree ${linked} belongs to a clone in it and would break` };
}

function hasUnsaved(work: CheckoutWork): boolean {
  return work.uncommitted + work.untracked + work.ignored + work.nestedRepositories + work.stashes + work.unpushedHereOnly > 0;
}

/** On another file system than the state, the trash is beside the checkouts: a rename is all or nothing, a copy is not. */
function movesOf(request: ResetRequest, place: CheckoutPlace, adminDir: string | undefined): MoveCheckoutStep['moves'] {
  const { storeDirectory, planId } = request.trash;
  const sameDevice = deviceOf(storeDirectory) === deviceOf(place.path);
  const trash = sameDevice ? path.join(storeDirectory, 'trash', planId) : path.join(place.root, 'loopkeeper', 'trash', planId);
  const toRoot = sameDevice ? request.config.stateRoot : place.root;
  // Two checkouts can have one name, in the folders of two repositories, and a name can be too long for anything before it.
  const name = `${sha256(place.path).slice(0, 8)}-${path.basename(place.path).slice(-60)}`;
  const move = (from: string, to: string): MoveCheckoutStep['moves'][number] => ({ from, to: path.join(trash, to), root: place.root, toRoot, identity: identityOf(from) });
  return [move(place.path, `checkout-${name}`), ...(adminDir === undefined ? [] : [move(adminDir, `worktree-${name}`)])];
}

function noticesOf(inspection: Inspection, place: CheckoutPlace): Message[] {
  if (inspection.kind === 'plain') {
    return inspection.files === 0 ? [] : [{ kind: 'no-checkout', message: `${place.path} is no git checkout; its ${inspection.complete ? '' : 'more than '}${String(inspection.files)} files go to the trash whole` }];
  }
  if (inspection.kind !== 'git') return [];
  const { work } = inspection;
  const notices: Message[] = [];
  if (work.unpushed > 0 && work.branch !== null && place.strategy === 'worktree') notices.push({ kind: 'unpushed', message: `the unpushed commits stay on the branch ${work.branch} of ${place.sharedClone ?? 'the clone'}` });
  if (work.detached && work.unpushed > 0) notices.push({ kind: 'detached-commits', message: 'no branch holds its unpushed commits: undo within two weeks, before git may clean them up' });
  if (work.stashes > 0) notices.push({ kind: 'stashes', message: `${String(work.stashes)} stash${work.stashes === 1 ? '' : 'es'} in the clone go${work.stashes === 1 ? 'es' : ''} with it, to the trash` });
  if (!work.complete) notices.push({ kind: 'large-checkout', message: 'it is so large that the counts are lower bounds' });
  return notices;
}
