/** The advisor's responses, as types and as OpenAPI schemas. */
import { SEVERITIES } from '../../advice-check';
import { REASONS } from '../../reasons';
import { CHECK_NAMES, SkippedCheck } from '../../advisor.service';
import * as f from '../../../http/model/fields';

class DismissalResponse extends f.model({
  at: f.timeText(),
  actor: f.text({ example: 'platform-admin' }),
}) {}

class AdviceResponse extends f.model({
  id: f.text('Stable while the same problem persists with the same object', {
    example: 'rls_off-4a5b0c3f9d2e1a77',
  }),
  check: f.choice(CHECK_NAMES),
  severity: f.choice(
    SEVERITIES,
    '`critical`: data is exposed, or writes will soon fail. `warning`: should be fixed. `info`: may be intended.',
  ),
  object: f.texts('The object: schema and name, then what belongs to it', { example: ['public', 'orders'] }),
  why: f.text('What is wrong and what it leads to', {
    example: 'Row-level security is off: the anon key reads and writes all rows.',
  }),
  reason: f.choice(Object.keys(REASONS), 'The text of `why`, for translations'),
  values: f.field<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'The values in `why`',
    example: {},
  }),
  sql: f.nullable.text(
    'SQL that fixes it, to be run as the owner. Review it first; each statement needs its own call. Null if the fix requires a decision.',
  ),
  dismissed: f.nullable.object(DismissalResponse, 'Null unless it was dismissed'),
}) {}

class SkippedResponse
  extends f.model({
    check: f.choice(CHECK_NAMES),
    reason: f.text(),
  })
  implements SkippedCheck {}

export class ProjectAdvice extends f.model({
  advice: f.list(AdviceResponse, 'The most severe first; dismissed advice is included'),
  skipped: f.list(SkippedResponse, 'Checks that failed, or took too long', { example: [] }),
  truncated: f.texts('Checks with more than the 50 findings they report', { example: [] }),
}) {}

export class AdviceDismissed extends f.model({
  id: f.text({ example: 'rls_off-4a5b0c3f9d2e1a77' }),
  dismissed: f.flag('The current state'),
}) {}
