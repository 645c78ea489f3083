import path from 'node:path';
import { toAscii } from '../disk/eventLine';
import type { Reader } from '../disk/reader';
import { isPortableFileName, readPortable, SECTIONS, type PortableFile, type Rewritten } from './portableRecord';
import { byCodePoint } from './ref';

/** The index of the given files of a portable directory, in any order (the-loop §1.6). */
export function portableIndex(files: Iterable<{ name: string; file: PortableFile }>): Rewritten {
  const entries: { ref: string; name: string; entry: object }[] = [];
  for (const { name, file } of files) {
    if (file.kind !== 'record') continue;
    const { refText, sealed, sections } = file.record;
    const url = file.record.ref?.url;
    entries.push({
      ref: refText,
      name,
      entry: { ref: refText, ...(url === undefined ? {} : { url }), file: name, sections: SECTIONS.filter((section) => sections[section]), ...(sealed ? { sealed: true } : {}) },
    });
  }
  if (entries.length === 0) return { kind: 'delete' };
  entries.sort((a, b) => byCodePoint(a.ref, b.ref) || byCodePoint(a.name, b.name));
  return { kind: 'write', text: `${toAscii(JSON.stringify({ workItems: entries.map(({ entry }) => entry) }, null, 2))}\n` };
}

/**
 * `portable/index.json` as it follows from the records beside it, byte for byte as the-loop writes it.
 * Unreadable files and strangers are passed over. Failures: those of listing the directory.
 */
export function buildPortableIndex(reader: Reader, portableDir: string): Rewritten {
  return portableIndex(reader.list(portableDir).filter(isPortableFileName).map((name) => ({ name, file: readPortable(reader, path.join(portableDir, name)) })));
}
