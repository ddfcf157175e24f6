// Starts the longest test files first, so that none of them runs alone at the end. Jest orders the others: by the times of the last
// run, or by size in a fresh clone. Files that wait for much of their time are spread over the run: four at once leave the
// processors idle, and files that compute wait for each other later.
const { default: Sequencer } = require('@jest/test-sequencer');

const SLOW = [
  'process/physical-backup',
  'console/tables',
  'console/console',
  'projects-deletion',
  'hostile-storage-tables',
  'object-store.int',
  'end-limits',
  'auth/hooks.e2e',
  'console/inside',
  'process/start.proc',
  'webhooks/webhooks',
  'process/kill',
  'process/workers',
  'process/default-install',
  'admin/doctor.e2e',
  'backup/schedules',
  'database-restart',
  'process/project-move',
  'console/grid',
  'late-answers',
  'replication-slots',
  'storage/providers.e2e',
  'full-disk',
  'api-docs/docs-page',
  'doctor-faults',
  'process/guides',
  'storage-memory',
  'backup/rehearsals',
  'auth/ldap',
  'process/mail.proc',
  'slow-bodies',
  'tenant-limits',
  'provider-attacks',
  'first-hour',
  'staff/roles',
  'backup/cli',
  'start-faults',
  'interrupted',
  'process/servers',
  'large-and-hostile',
  'embedded-postgres',
  'process/tour',
  'hostile-sockets',
  'auth/mail.e2e',
  'admin/migrations',
  'clients/openapi-fetch',
  'backup/forged',
  'held-results',
  'backup/faults',
  'hostile-auth-tables',
];

/** Share of the run's files after which none that waits is left. */
const WAITING_SHARE = 0.8;

module.exports = class SlowFirst extends Sequencer {
  async sort(tests) {
    const ordered = [...(await super.sort(tests))].sort((one, other) => rank(one) - rank(other));
    const waiting = ordered.filter(waits);
    const computing = ordered.filter((test) => !waits(test));
    const places = [...placesOf(waiting, WAITING_SHARE), ...placesOf(computing, 1)];
    return places.sort((one, other) => one.place - other.place).map(({ test }) => test);
  }
};

const placesOf = (tests, share) =>
  tests.map((test, index) => ({ test, place: (share * (index + 0.5)) / tests.length }));

/** Processes that start, end and recover; the retries of the providers' own libraries. */
const waits = ({ path }) => path.endsWith('.proc-spec.ts') || path.includes('object-store.int');

function rank({ path }) {
  const known = SLOW.findIndex((name) => path.includes(name));
  return known === -1 ? SLOW.length : known;
}
