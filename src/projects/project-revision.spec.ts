import { revisionOf } from './project-revision';
import { ProjectEntity, ProjectSecretEntity } from './project.entity';

const PROJECT: ProjectEntity = {
  id: 'a1',
  slug: 'acme',
  name: 'Acme',
  plan: 'free',
  status: 'active',
  settings: { max_rows: 5 },
  serverUrl: null,
  server: 'platform',
  databaseName: 'plinth_a1',
  ownerRole: 'plinth_a1_owner',
  loginRole: 'plinth_a1_login',
  ownerPassword: Buffer.from('1'),
  loginPassword: Buffer.from('2'),
  schemaVersion: '1',
  signingKeys: null,
  s3Keys: null,
  apiKeys: null,
  dataSecret: null,
  polled: false,
  pausedAt: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
};
const SECRET: ProjectSecretEntity = {
  projectId: 'a1',
  kid: 'k1',
  secret: Buffer.from('3'),
  storageSecret: Buffer.from('4'),
  createdAt: new Date(0),
  expiresAt: null,
};
const OLD: ProjectSecretEntity = { ...SECRET, kid: 'k0', expiresAt: new Date(9) };
const REVISION = revisionOf(PROJECT, [SECRET, OLD]);

it('is the same for rows that were read again, in any order', () => {
  const again = { ...PROJECT, settings: { ...PROJECT.settings }, loginPassword: Buffer.from('2') };
  expect(revisionOf(again, [{ ...OLD }, { ...SECRET }])).toBe(REVISION);
});

it('is the same when only the bookkeeping changed', () => {
  const touched = { ...PROJECT, schemaVersion: '2', updatedAt: new Date(1) };
  expect(revisionOf(touched, [SECRET, OLD])).toBe(REVISION);
});

it.each<Partial<ProjectEntity>>([
  { id: 'a2' },
  { slug: 'acme-2' },
  { name: 'Acme 2' },
  { plan: 'pro' },
  { settings: {} },
  { settings: { max_rows: 6 } },
  { serverUrl: Buffer.from('5') },
  { databaseName: 'plinth_a2' },
  { loginRole: 'plinth_a2_login' },
  { loginPassword: Buffer.from('6') },
  { polled: true },
  { s3Keys: Buffer.from('7') },
  { apiKeys: Buffer.from('8') },
  { pausedAt: new Date(5) },
])('changes with %j', (change) => {
  expect(revisionOf({ ...PROJECT, ...change }, [SECRET, OLD])).not.toBe(REVISION);
});

it.each<Partial<ProjectSecretEntity>>([
  { kid: 'k2' },
  { secret: Buffer.from('7') },
  { storageSecret: Buffer.from('8') },
  { createdAt: new Date(1) },
  { expiresAt: new Date(10) },
])('changes with %j of a secret', (change) => {
  expect(revisionOf(PROJECT, [{ ...SECRET, ...change }, OLD])).not.toBe(REVISION);
  expect(revisionOf(PROJECT, [SECRET])).not.toBe(REVISION);
});
