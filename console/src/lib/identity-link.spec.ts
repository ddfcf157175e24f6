import type { Identity } from '../api/identity';
import { identityFromText, identityToText } from './identity-link';

it.each<Identity>([
  { as: 'service_role' },
  { as: 'anon' },
  { as: 'user', user_id: 'd1d5b0de-0000-4000-8000-000000000000' },
  { as: 'claims', claims: { role: 'authenticated', team: 'a\nb' } },
])('reads what it wrote: %j', (identity) => {
  expect(identityFromText(identityToText(identity))).toEqual(identity);
});

it.each(['', 'root', 'user:', 'claims:', 'claims:7', 'claims:[]', 'claims:null', 'claims:{'])(
  'reads %j as the service role',
  (text) => {
    expect(identityFromText(text)).toEqual({ as: 'service_role' });
  },
);
