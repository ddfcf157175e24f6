/** Lists as tables with a header for each column, which scroll if the page is narrow. */
import { Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useT } from '../i18n';
import textStyles from './text.module.css';

interface DataTableProps {
  /** Minimum width in pixels; narrower pages scroll the table. */
  readonly minWidth: number;
  /** Labels of the columns; null for the column of actions. */
  readonly heads: readonly (string | null)[];
  readonly isHoverable?: boolean;
  /** The rows. */
  readonly children: ReactNode;
}

export function DataTable({ minWidth, heads, isHoverable = false, children }: DataTableProps) {
  const t = useT();
  return (
    <Table.ScrollContainer minWidth={minWidth}>
      <Table verticalSpacing="xs" highlightOnHover={isHoverable}>
        <Table.Thead>
          <Table.Tr>
            {heads.map((label, index) =>
              label === null ? (
                <Table.Th key={index} aria-label={t('actions')} />
              ) : (
                <Table.Th key={index} className={textStyles.nowrap}>
                  {label}
                </Table.Th>
              ),
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** A name with details that distinguish it. Both may be untrusted texts. */
export function Named({ name, details }: { name: string; details: string }) {
  return (
    <>
      <Text size="sm" fw={550} dir="auto">
        {name}
      </Text>
      <Text size="xs" c="dimmed" dir="auto">
        {details}
      </Text>
    </>
  );
}
