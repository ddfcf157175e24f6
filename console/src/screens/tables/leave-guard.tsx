/** Asks before changes that were not saved are lost: by a link, by the back button, or by closing the page. */
import { useBlocker } from '@tanstack/react-router';
import { useT } from '../../i18n';
import { Confirm } from '../../ui/parts';

/** The table of an address. Filters, sort and identity may change: the grid stays. */
function tableOf({ pathname, search }: { pathname: string; search: object }): string {
  const { schema, table } = search as { readonly schema?: string; readonly table?: string };
  return JSON.stringify([pathname, schema, table]);
}

export function LeaveGuard({ changes }: { changes: number }) {
  const t = useT();
  const blocked = useBlocker({
    shouldBlockFn: ({ current, next }) => changes > 0 && tableOf(current) !== tableOf(next),
    enableBeforeUnload: changes > 0,
    withResolver: true,
  });
  if (blocked.status !== 'blocked') return null;
  return (
    <Confirm
      title={t('leaveTitle')}
      text={t('leaveText', { count: changes })}
      action={t('discardAndLeave')}
      run={() => Promise.resolve(blocked.proceed())}
      onClose={blocked.reset}
    />
  );
}
