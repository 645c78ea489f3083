import path from 'node:path';
import type { CliConfig } from '../config/cliConfig';
import { Failure } from '../disk/failure';
import { assertInside, isInside } from '../disk/reader';

/** What session records must stay inside: the state root, or the folder that the configuration puts them in elsewhere. */
export function sessionRoot(config: Pick<CliConfig, 'stateRoot' | 'registryDir'>): string {
  return isInside(config.stateRoot, config.registryDir) ? config.stateRoot : config.registryDir;
}

/** A folder of records that leads out of its root through a link: what is in it is read, and never changed. `why` is a clause without a full stop. */
export interface UnsafePlace { piece: 'session' | 'portable'; path: string; why: string }

export function unsafePlaces(config: Pick<CliConfig, 'stateRoot' | 'registryDir' | 'portableDir'>): UnsafePlace[] {
  const places = [{ piece: 'session' as const, root: sessionRoot(config), path: config.registryDir }, { piece: 'portable' as const, root: config.stateRoot, path: config.portableDir }];
  return places.flatMap(({ piece, root, path: directory }) => {
    try {
      assertInside(root, path.join(directory, 'record'));
      return [];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return [{ piece, path: directory, why: error.message.replace(/\.$/, '') }];
    }
  });
}
