/** Opens the provider's page in another tab. A page of the project then shows the provider's response. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useT } from '../../i18n';
import { announceFailure } from '../../ui/feedback';

/** @param begin returns the address that a browser opens */
export function TryButton({ name, begin: beginTrial }: { name: string; begin: () => Promise<string> }) {
  const t = useT();
  const begin = useMutation({
    mutationFn: async (_tab: Window | null) => beginTrial(),
    // The click itself opens the tab, because browsers block a tab that opens later.
    onSuccess: (url, tab) => tab?.location.replace(url),
    onError: (error, tab) => {
      tab?.close();
      announceFailure(error, t('close'));
    },
  });
  return (
    <Button
      size="xs"
      variant="default"
      loading={begin.isPending}
      aria-label={t('tryProvider', { name })}
      onClick={() => {
        const tab = window.open('about:blank', '_blank');
        if (tab) tab.opener = null;
        begin.mutate(tab);
      }}
    >
      {t('tryIt')}
    </Button>
  );
}
