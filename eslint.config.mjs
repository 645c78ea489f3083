import tseslint from 'typescript-eslint';

// The rooms of the house and what each may import from (besides itself). Arrows point down only.
const base = ['protocol'];
const engine = [...base, 'core/disk', 'core/plan'];
const shared = [...engine, 'core/config', 'core/workItems', 'core/events', 'core/harness', 'core/workspaces'];
const rooms = {
  protocol: [],
  'core/disk': base,
  'core/plan': [...base, 'core/disk'],
  'core/config': [...base, 'core/disk'],
  'core/workItems': [...engine, 'core/config'],
  'core/events': [...engine, 'core/config'],
  'core/workspaces': [...engine, 'core/config', 'core/workItems'],
  'core/harness': [...engine, 'core/config', 'core/workItems'],
  'core/sessions': shared,
  'core/context': shared,
  'core/workflow': shared,
  'core/retention': shared,
  'core/retest': shared,
  extension: base,
};

/** One block per room: every other room, the program and the editor's API are out of bounds unless listed. */
const roomRules = Object.entries(rooms).map(([room, allowed]) => {
  const forbidden = Object.keys(rooms).filter((other) => other !== room && !allowed.includes(other));
  // A path that climbs out of the room (`../`) is the only way into another one.
  const names = forbidden.map((other) => other.replace('core/', '')).concat('cli').join('|');
  const regex = room === 'extension' ? '/(core|cli)/' : `(^|/)\\.\\./(core/)?(${names})/`;
  return {
    files: [`src/${room}/**/*.ts`],
    rules: {
      'no-restricted-imports': ['error', {
        ...(room === 'extension' ? {} : { paths: [{ name: 'vscode', message: 'Only src/extension may know the editor.' }] }),
        patterns: [{ regex, message: `src/${room} may import from: itself${allowed.length ? ', ' + allowed.join(', ') : ''}.` }],
      }],
    },
  };
});

export default tseslint.config(
  { ignores: ['dist/', 'out/', 'node_modules/', '.tools/'] },
  ...tseslint.configs.strict,
  // Preloaded by node and mocha, which want CommonJS.
  { files: ['**/*.cjs'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  {
    languageOptions: { parserOptions: { projectService: true } },
    files: ['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      'no-restricted-syntax': ['error', { selector: 'ExportDefaultDeclaration', message: 'No default exports.' }, { selector: 'ExportAllDeclaration', message: 'No barrel files.' }],
    },
  },
  { files: ['src/core/**/*.ts'], rules: {
    'no-console': 'error',
    'no-restricted-properties': ['error',
      { object: 'process', property: 'exit', message: 'core never exits.' },
      { object: 'process', property: 'env', message: 'core never reads the environment; it comes in as an argument.' },
      { object: 'Date', property: 'now', message: 'core never reads the clock; `now` comes in as an argument.' }],
  } },
  { files: ['src/cli/**/*.ts'], rules: { 'no-restricted-imports': ['error', { paths: ['vscode'], patterns: ['**/extension/**'] }] } },
  ...roomRules,
);
