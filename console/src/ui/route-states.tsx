/** Shown instead of a screen that does not exist or failed. */
import { Anchor, Button } from '@mantine/core';
import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiError, isUnreachable } from '../api/errors';
import { useT } from '../i18n';
import { Empty, Failure } from './feedback';
import pageStyles from './page.module.css';

export function NotFound() {
  const t = useT();
  return (
    <Empty icon="search" title={t('notFound')} text={t('notFoundText')}>
      <Anchor renderRoot={(props) => <Link to="/" {...props} />}>{t('allProjects')}</Anchor>
    </Empty>
  );
}

/**
 * True if a module of the page's build could not be loaded, because an update removed its file. The message
 * of this error differs between browsers.
 */
function isMissingModule(error: unknown): boolean {
  return error instanceof Error && /module script|imported module/i.test(error.message);
}

/** Milliseconds between attempts while the server does not answer. */
const AGAIN_MS = 4_000;

export function RouteFailure({ error, reset }: ErrorComponentProps) {
  const t = useT();
  const router = useRouter();
  const boundary = useQueryErrorResetBoundary();
  const again = (): void => {
    boundary.reset();
    reset();
    void router.invalidate();
  };
  const isWaiting = isUnreachable(error);
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setTimeout(again, AGAIN_MS);
    return () => clearTimeout(timer);
  });
  if (error instanceof ApiError && error.code === 'project_not_found') return <NotFound />;
  if (isMissingModule(error))
    return (
      <Empty icon="refresh" title={t('screenNotLoaded')} text={t('screenNotLoadedText')}>
        <Button onClick={() => location.reload()}>{t('reload')}</Button>
      </Empty>
    );
  return (
    <div className={pageStyles.page}>
      <Failure error={error} onRetry={again} />
    </div>
  );
}
