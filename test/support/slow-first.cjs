// Starts the longest test files first, so that none of them runs alone at the end, then process tests, which wait for much of their
// time. Jest orders the others: by the times of the last run, or by size in a fresh clone.
const { default: Sequencer } = require('@jest/test-sequencer');

const SLOW = [
  'console/tables',
  'process/start.proc',
  'console/console',
  'process/project-move',
  'object-store.int',
  'physical-backup',
  'large-and-hostile',
  'process/kill',
  'slow-readers',
  'database-restart',
  'projects-deletion',
  'slow-bodies',
  'backup/schedules',
  'console/inside',
  'backup/concurrent-changes',
  'process/mail.proc',
  'hostile-storage-tables',
  'late-answers',
  'tenant-limits',
  'storage/browser',
  'body-memory',
  'staff/roles',
  'storage-memory',
  'admin/doctor',
  'auth/mail.e2e',
];

module.exports = class SlowFirst extends Sequencer {
  async sort(tests) {
    const ordered = await super.sort(tests);
    return [...ordered].sort((one, other) => rank(one) - rank(other));
  }
};

function rank({ path }) {
  const known = SLOW.findIndex((name) => path.includes(name));
  if (known !== -1) return known;
  return path.endsWith('.proc-spec.ts') ? SLOW.length : SLOW.length + 1;
}
