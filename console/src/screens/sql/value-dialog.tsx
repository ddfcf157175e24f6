/** Shows the whole value of a cell of a result. */
import { Button, Group } from '@mantine/core';
import { useT } from '../../i18n';
import { Copy } from '../../ui/parts';
import { saveFile } from '../../ui/save-file';
import { Dialog } from '../../ui/dialog';
import valueStyles from '../../ui/value.module.css';

/** Number of characters of a value that are drawn. The rest is only in the file, because the browser takes seconds to draw it. */
const SHOWN_CHARACTERS = 20_000;

interface ValueDialogProps {
  readonly column: string;
  readonly text: string;
  readonly onClose: () => void;
}

export function ValueDialog({ column, text, onClose }: ValueDialogProps) {
  const t = useT();
  return (
    <Dialog onClose={onClose} title={column} size="lg">
      <pre className={valueStyles.text} tabIndex={0} aria-label={t('value')} dir="auto">
        {text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}
      </pre>
      <Group gap="xs" mt="xs" justify="end">
        <Copy value={text} />
        <Button
          size="xs"
          variant="default"
          onClick={() => saveFile(new Blob([text], { type: 'text/plain' }), `${column}.txt`)}
        >
          {t('downloadValue')}
        </Button>
      </Group>
    </Dialog>
  );
}
