// Starts the longest test files first, so that none of them runs alone at the end. Jest orders the others: by the times of the
// last run, or by size in a fresh clone.
const { default: Sequencer } = require('@jest/test-sequencer');

const SLOW = [
  'console/tables',
  'console/inside',
  'large-and-hostile',
  'hostile-storage-tables',
  'object-store.int',
  'storage/providers',
  'slow-bodies',
  'projects-deletion',
  'hostile-auth-tables',
  'docs-page',
  'route-access',
  'backup/schedules',
  'process/start.proc',
  'physical-backup',
  'database-restart',
  'process/kill',
  'unix-socket',
  'storage-memory',
];

module.exports = class SlowFirst extends Sequencer {
  async sort(tests) {
    const rank = ({ path }) => SLOW.findIndex((name) => path.includes(name)) + 1 || SLOW.length + 1;
    const ordered = await super.sort(tests);
    return [...ordered].sort((one, other) => rank(one) - rank(other));
  }
};
