/** Shows its content to people with a session, and the sign-in page to others; the URL stays, so links work after sign-in. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { adminCall } from '../api/client';
import { ApiError } from '../api/errors';
import { type SessionAnswer, setSession, useSession } from '../api/session';
import { Failure, Loading } from '../ui/feedback';
import { EntryPage, SignInScreen } from './sign-in';
import { useT } from '../i18n';

/** `null`: nobody is signed in; `unknown`: this server has no people. */
async function findSession(): Promise<SessionAnswer | null | 'unknown'> {
  try {
    return await adminCall<SessionAnswer>('GET', '/session');
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    if (error instanceof ApiError && error.status === 404) return 'unknown';
    throw error;
  }
}

export function Entrance({ children }: { children: ReactNode }) {
  const t = useT();
  const session = useSession();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['session'],
    queryFn: findSession,
    staleTime: Infinity,
    enabled: session === null,
  });
  const found = data !== 'unknown' && data ? data : null;
  useEffect(() => {
    if (!found || session !== null) return;
    setSession({ by: 'cookie', answer: found });
    // Once the session has ended, this answer must not start it again.
    client.setQueryData(['session'], null);
  }, [found, session, client]);
  if (session) return children;
  if (error) {
    return (
      <EntryPage title={t('signInTitle')}>
        <Failure error={error} onRetry={() => void refetch()} />
      </EntryPage>
    );
  }
  return data === undefined || found ? <Loading /> : <SignInScreen hasPeople={data === null} />;
}
