/**
 * Shows its content to staff with a session, and the sign-in page to others. The URL is kept, so links work after
 * sign-in.
 */
import { Alert, Button, Modal, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { unreachable } from '../api/reachability';
import {
  beginSession,
  personOf,
  readSession,
  renewSession,
  type Session,
  type SessionAnswer,
  setSession,
  useIsExpired,
  useOther,
  useSession,
} from '../api/session';
import { forgetPerson } from '../forget-person';
import { useIsOnTop } from '../ui/dialog';
import { Failure, Loading } from '../ui/feedback';
import { EntryPage } from '../ui/entry';
import { StepUpDialog } from '../ui/step-up-dialog';
import { SignInForms, SignInScreen } from './sign-in';
import { useT } from '../i18n';
import textStyles from '../ui/text.module.css';

async function findSession(): Promise<SessionAnswer | null> {
  const found = await readSession();
  if (found === undefined) throw unreachable();
  return found;
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
    beginSession(found);
    // This response must not restart a session that has ended.
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

/** Another staff member gets a new page, and sees nothing that was loaded or entered before. */
function SignedIn({ session, children }: { session: Session; children: ReactNode }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const isExpired = useIsExpired();
  const person = personOf(session);
  const [shown, setShown] = useState(person);
  const wasExpired = useRef(false);
  useEffect(() => {
    if (shown !== person) {
      forgetPerson();
      // The address can contain a statement or filter of the previous staff member.
      void navigate({ to: '/', replace: true, ignoreBlocker: true }).then(() => setShown(person));
    } else if (wasExpired.current && !isExpired) {
      void client.invalidateQueries();
    }
    wasExpired.current = isExpired;
  }, [shown, person, isExpired, client, navigate]);
  if (shown !== person) return <Loading />;
  return (
    <>
      {children}
      <StepUpDialog />
      {isExpired ? <SignInAgain session={session} /> : null}
    </>
  );
}

/** Shown above the page of a session that has ended. */
function SignInAgain({ session }: { session: Session }) {
  const t = useT();
  const other = useOther();
  // Escape must not close a drawer below, with its input.
  useIsOnTop(true);
  const renew = (): void => void renewSession();
  // Single sign-on, and a sign-in in another tab, leave a cookie that this tab can use.
  useWindowEvent('focus', renew);
  useEffect(renew, []);
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={1000}
      // The staff member may have left the browser, so the page is hidden.
      overlayProps={{ blur: 14, backgroundOpacity: 0.75 }}
      title={t('sessionEnded')}
    >
      <Text size="sm" mb="md">
        {t('sessionEndedText')}
      </Text>
      {other ? <GoOnAs answer={other} /> : null}
      <SignInForms byKey={session.by === 'key'} keepsPage />
    </Modal>
  );
}

/** Another staff member has signed in in another tab, so the work of this page is discarded after a confirmation. */
function GoOnAs({ answer }: { answer: SessionAnswer }) {
  const t = useT();
  const { name, email } = answer.person;
  return (
    <Alert color="orange" variant="light" mb="md" role="note">
      <Text size="sm" mb="xs" className={textStyles.wrap}>
        {t('otherPersonText', { name: email ?? name })}
      </Text>
      <Button size="xs" variant="default" onClick={() => setSession({ by: 'cookie', answer })}>
        {t('goOnAs', { name: email ?? name })}
      </Button>
    </Alert>
  );
}
