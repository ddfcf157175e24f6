/** Shows its content to people with a session, and the sign-in page to others; the URL stays, so links work after sign-in. */
import { Modal, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { api, dataOf } from '../api/client';
import { ApiError } from '../api/errors';
import { forgetCredentials } from '../api/identity';
import {
  personOf,
  type Session,
  type SessionAnswer,
  setSession,
  useIsExpired,
  useSession,
} from '../api/session';
import { Failure, Loading } from '../ui/feedback';
import { EntryPage } from '../ui/entry';
import { SignInForms, SignInScreen } from './sign-in';
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
  if (session) return <SignedIn session={session}>{children}</SignedIn>;
  if (error) {
    return (
      <EntryPage title={t('signInTitle')}>
        <Failure error={error} onRetry={() => void refetch()} />
      </EntryPage>
    );
  }
  return data === undefined || found ? <Loading /> : <SignInScreen />;
}

/** Another person begins with a new page, and sees nothing of what was loaded or entered before. */
function SignedIn({ session, children }: { session: Session; children: ReactNode }) {
  const client = useQueryClient();
  const isExpired = useIsExpired();
  const person = personOf(session);
  const [shown, setShown] = useState(person);
  const wasExpired = useRef(false);
  useEffect(() => {
    if (shown !== person) {
      forgetCredentials();
      client.clear();
      setShown(person);
    } else if (wasExpired.current && !isExpired) {
      void client.invalidateQueries();
    }
    wasExpired.current = isExpired;
  }, [shown, person, isExpired, client]);
  if (shown !== person) return <Loading />;
  return (
    <>
      {children}
      {isExpired ? <SignInAgain byKey={session.by === 'key'} /> : null}
    </>
  );
}

/** Above the page of a session that has ended. */
function SignInAgain({ byKey }: { byKey: boolean }) {
  const t = useT();
  // Single sign-on, and a sign-in in another tab, leave a cookie that this tab can use.
  useWindowEvent('focus', () => {
    void findSession().then((answer) => {
      if (answer) setSession({ by: 'cookie', answer });
    }, announceNothing);
  });
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={1000}
      // The person may have left: what the page shows cannot be read.
      overlayProps={{ blur: 14, backgroundOpacity: 0.75 }}
      title={t('sessionEnded')}
    >
      {/* Escape would close a drawer below, with what was entered in it. Mantine asks the focused element. */}
      <div onFocusCapture={({ target }) => target.setAttribute('data-mantine-stop-propagation', 'true')}>
        <Text size="sm" mb="md">
          {t('sessionEndedText')}
        </Text>
        <SignInForms byKey={byKey} keepsPage />
      </div>
    </Modal>
  );
}

/** The form beside it shows whether the server answers. */
const announceNothing = (): void => undefined;
