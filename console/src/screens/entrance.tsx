/** Shows its content to people with a session, and the sign-in page to others; the URL stays, so links work after sign-in. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { api, dataOf } from '../api/client';
import { ApiError } from '../api/errors';
import { type SessionAnswer, setSession, useSession } from '../api/session';
import { Failure, Loading } from '../ui/feedback';
import { EntryPage } from '../ui/entry';
import { SignInScreen } from './sign-in';
import { useT } from '../i18n';

/** Null without a session. */
async function findSession(): Promise<SessionAnswer | null> {
  try {
    return await dataOf(api.GET('/admin/v1/session'));
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
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
  const found = data ?? null;
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
  return data === undefined || found ? <Loading /> : <SignInScreen />;
}
