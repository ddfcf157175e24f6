/** Responses about a project's migrations, as types and as OpenAPI schemas. */
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

const CREATE_NOTES = { version: '20261122210000', name: 'create_notes' };

export class AppliedMigrationResponse extends model({
  version: f.text({ example: '20261122210000' }),
  name: f.text({ example: 'create_notes' }),
  sha256: f.text({
    description: 'SHA-256 of the SQL, hexadecimal',
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  }),
  applied_at: f.time(),
}) {}

class MigrationResultResponse extends model({
  version: f.text({ example: '20261122210000' }),
  name: f.text({ example: 'create_notes' }),
  milliseconds: f.size(),
  notices: f.texts(),
}) {}

export class MigrationRunResponse extends model({
  applied: f.list(MigrationResultResponse, {
    description: 'With dry_run: those that would be applied',
    example: [{ ...CREATE_NOTES, milliseconds: 12, notices: [] }],
  }),
  skipped: f.texts({ description: 'Versions that were applied before', example: ['20261101080000'] }),
  untried: f.texts({
    description: 'Versions that a dry run left out: from the first migration without a transaction on',
    example: [],
  }),
}) {}
