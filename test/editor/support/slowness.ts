import { spawnSync } from 'node:child_process';

/** How much slower this machine is now than the one that budgets in time are meant for: there an empty Node program takes 60 ms. At least 1. */
export function slowness(): number {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    spawnSync(process.execPath, ['-e', '0'], { env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' } });
    return performance.now() - start;
  });
  return Math.max(1, Math.min(...times) / 60);
}
