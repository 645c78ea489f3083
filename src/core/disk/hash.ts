import { crypto } from './builtin';

/** SHA-256 in hex. */
export function sha256(bytes: string | Uint8Array): string {
  return crypto().createHash('sha256').update(bytes).digest('hex');
}

/** JSON with sorted keys and no spaces: the same value always gives the same text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner);
}
