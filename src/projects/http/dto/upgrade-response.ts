/** The response of an upgrade, as a type and as an OpenAPI schema. */
import { Example } from '../../../http/docs/example.decorator';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

class FailedUpgrade extends model({
  slug: f.text({ example: 'acme' }),
  reason: f.text(),
}) {}

@Example({ migrated: ['acme'], failed: [] })
export class UpgradeResponse extends model({
  migrated: f.texts('Slugs of the migrated projects'),
  failed: f.list(FailedUpgrade),
}) {}
