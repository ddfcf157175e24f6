/** Opens the provider's page in another tab. A page of the project shows what it answers. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useT } from '../../i18n';
import { announceFailure } from '../../ui/feedback';

/** @param begin gives the address that a browser opens */
export function TryButton({ name, begin: beginTrial }: { name: string; begin: () => Promise<string> }) {
  const t = useT();
  const begin = useMutation({
    mutationFn: async (_tab: Window | null) => beginTrial(),
    // The tab is opened by the click, since browsers refuse one that opens later.
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
