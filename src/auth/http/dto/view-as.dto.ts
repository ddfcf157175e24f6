/** The request for a token to view a project as somebody else, and its response. */
import { UUID_EXAMPLE } from '../../../http/docs/documented-types';
import { VIEW_IDENTITIES } from '../../views/view-token.service';
import * as f from '../../../http/model/fields';

@f.Example({ as: 'user', user_id: UUID_EXAMPLE })
export class ViewAsDto extends f.model({
  as: f.choice(VIEW_IDENTITIES, 'The identity of the token'),
  user_id: f.optional.text('With `user`: the id of the user', { max: 100, format: 'uuid' }),
  claims: f.optional.json(
    'With `claims`: the claims of the token, such as `role` and `sub`. Claims about its lifetime, project and session are set by Plinth or dropped.',
  ),
}) {}

export class ViewTokenResponse extends f.model({
  access_token: f.text('For the Authorization header', {
    example: 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiIsInJlYWRfb25seSI6dHJ1ZX0.c2lnbmF0dXJl',
  }),
  apikey: f.text('For the apikey header: the anon key of the project', {
    example: 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.c2lnbmF0dXJl',
  }),
  expires_at: f.time(),
  read_only: f.flag('True: GET, HEAD and OPTIONS only'),
  unconfirmed: f.flag(
    'True: changes of accounts and providers are refused (403 step_up_required), because the session gave no proof of identity in the last ten minutes (POST /admin/v1/session/confirm)',
  ),
}) {}
