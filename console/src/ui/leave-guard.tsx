/** Asks before unsaved changes are lost by a link, by the back button, or by closing the page. */
import { useBlocker } from '@tanstack/react-router';
import { useT } from '../i18n';
import { Confirm } from './parts';

/**
 * The part of an address that the form belongs to. Other members, such as filters and sort, may change
 * without leaving the form.
 */
function subjectOf(
  { pathname, search }: { pathname: string; search: object },
  by: readonly string[],
): string {
  return JSON.stringify([pathname, ...by.map((name) => (search as Record<string, unknown>)[name])]);
}

interface LeaveGuardProps {
  readonly changes: number;
  /** Members of the address whose change also discards the unsaved changes. */
  readonly by?: readonly string[];
  /** Title of the question; by default it is about unsaved changes. */
  readonly title?: string;
  readonly text?: string;
}

export function LeaveGuard({ changes, by = [], title, text }: LeaveGuardProps) {
  const t = useT();
  const blocked = useBlocker({
    shouldBlockFn: ({ current, next }) => changes > 0 && subjectOf(current, by) !== subjectOf(next, by),
    enableBeforeUnload: changes > 0,
    withResolver: true,
  });
  if (blocked.status !== 'blocked') return null;
  return (
    <Confirm
      title={title ?? t('leaveTitle')}
      text={text ?? t('leaveText', { count: changes })}
      action={t('discardAndLeave')}
      run={() => Promise.resolve(blocked.proceed())}
      onClose={blocked.reset}
    />
  );
}
