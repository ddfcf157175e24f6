/** The inputs of a project's hooks. */
import type { JsonObject } from '../../common/text/json';
import type { RequestOrigin } from '../../identity/request-origin';
import type { AccountToInsert } from '../accounts/account';

export function creationOf(
  { id, email, phone, name, data, appData = {}, now }: AccountToInsert,
  { ip }: Pick<RequestOrigin, 'ip'>,
): JsonObject {
  return {
    metadata: { name: 'before-user-created', time: now.toISOString(), ip_address: ip },
    user: {
      id,
      email: email?.address ?? '',
      phone: phone ?? '',
      name,
      user_metadata: data,
      app_metadata: appData,
      is_anonymous: email === null && phone === undefined,
    },
  };
}
