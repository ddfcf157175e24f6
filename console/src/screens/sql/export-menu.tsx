/** Saves the rows of a statement as a file. */
import { Button, Menu } from '@mantine/core';
import { useT } from '../../i18n';
import { disarmed, toCsv } from '../../lib/csv';
import { textOf } from '../../lib/result-text';
import { Icon } from '../../ui/icon';
import { saveFile } from '../../ui/save-file';

interface ExportMenuProps {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly name: string;
}

export function ExportMenu({ columns, rows, name }: ExportMenuProps) {
  const t = useT();
  const saveCsv = (toField: (value: string | null) => string | null): void => {
    const records = rows.map((row) => columns.map((column) => toField(textOf(row[column]))));
    const text = toCsv([columns.map(toField), ...records]);
    saveFile(new Blob([text], { type: 'text/csv' }), `${name}.csv`);
  };
  // Writes one row per line for readability. Numbers remain texts as in the response, because a double would round some.
  const saveJson = (): void => {
    const text = `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`;
    saveFile(new Blob([text], { type: 'application/json' }), `${name}.json`);
  };
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button size="compact-xs" variant="default" leftSection={<Icon name="download" size={13} />}>
          {t('exportResult')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => saveCsv((value) => value)}>{t('exportCsv')}</Menu.Item>
        <Menu.Item onClick={() => saveCsv(disarmed)}>{t('exportForSpreadsheets')}</Menu.Item>
        <Menu.Item onClick={saveJson}>{t('exportJson')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
