// Parts of Node that many commands do without: each is loaded by its first call, since starting with it takes a tenth of an empty program's time.

export const childProcess = () => process.getBuiltinModule('node:child_process');
export const crypto = () => process.getBuiltinModule('node:crypto');
