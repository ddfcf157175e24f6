/** Reads the parameters for a provider from a request, and writes a provider's tokens into an answer. */
import type { ProviderRequest, ProviderTokens } from '../../providers/provider-sign-in.service';
import { validationFailed } from './gotrue-errors';

/** Parameters that an application may add. Other parameters could change the checks of the answer, or its target. */
const PASSED = [
  'access_type',
  'acr_values',
  'connection',
  'display',
  'domain_hint',
  'hd',
  'include_granted_scopes',
  'kc_idp_hint',
  'login_hint',
  'max_age',
  'organization',
  'prompt',
  'ui_locales',
];
/** Characters. */
const MAX_VALUE = 500;
const SCOPES = /^[\w:./ +-]{0,500}$/;

type Query = Readonly<Record<string, unknown>>;

/** @throws AppError 400 */
export function providerRequest(query: Query): Pick<ProviderRequest, 'provider' | 'scopes' | 'parameters'> {
  const { provider, scopes = '' } = query;
  if (typeof provider !== 'string' || provider === '')
    throw validationFailed('Unsupported provider: missing provider');
  if (typeof scopes !== 'string' || !SCOPES.test(scopes)) throw validationFailed('scopes are not valid');
  const parameters = PASSED.flatMap((name): [string, string][] => {
    const value = query[name];
    return typeof value === 'string' && value.length <= MAX_VALUE ? [[name, value]] : [];
  });
  return { provider, scopes: scopes.replaceAll('+', ' '), parameters: Object.fromEntries(parameters) };
}

/** Leaves out absent members. */
export function tokensOf({ accessToken, refreshToken }: ProviderTokens): {
  provider_token?: string;
  provider_refresh_token?: string;
} {
  return {
    ...(accessToken === null ? {} : { provider_token: accessToken }),
    ...(refreshToken === null ? {} : { provider_refresh_token: refreshToken }),
  };
}
