/** Query and response of an import of users. */
import * as f from '../../../http/model/fields';

export class ImportUsersQuery extends f.model({
  existing: f.optional.choice(
    ['skip', 'update'],
    'Whether existing users stay as they are, or get the values of their line, which ends their sessions if it has another password or a ban. Default: `skip`',
  ),
}) {}

class ImportFaultResponse extends f.model({
  line: f.size({ example: 3 }),
  message: f.text({ example: 'email is not an address' }),
}) {}

export class UserImportResponse extends f.model({
  users: f.size('Lines, without empty ones', { example: 3 }),
  created: f.size({ example: 1 }),
  updated: f.size({ example: 0 }),
  skipped: f.size('Users that existed already', { example: 1 }),
  failed: f.size({ example: 1 }),
  identities: f.size('Identities that were added', { example: 1 }),
  unknown_providers: f.texts(
    'Providers whose identities were left out: set them up first, or give their issuers',
    { example: [] },
  ),
  errors: f.list(ImportFaultResponse, 'The first 100 faults'),
}) {}
