// Mocha's spec reporter that also writes its counts to the file named by LK_COUNTS, so that a run that dies is not taken for a green one.
const { appendFileSync } = require('node:fs');
const { reporters: { Spec } } = require('mocha');

module.exports = class extends Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures, pending } = runner.stats;
      // A test that was skipped tells nothing, so it counts as failed.
      if (process.env.LK_COUNTS) appendFileSync(process.env.LK_COUNTS, `${passes} passed, ${failures + pending} failed\n`);
    });
  }
};
