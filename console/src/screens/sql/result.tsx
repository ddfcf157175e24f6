/** The outcome of a run of SQL: rows of each statement as a table, a chart or a plan, or an error with its position. */
import { Alert, Badge, Group, SegmentedControl, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import type { Schema } from '../../api/client';
import { ApiError } from '../../api/errors';
import type { Project } from '../../queries/projects';
import { useLanguages } from '../../i18n';
import { chartOf } from '../../lib/result-chart';
import { planOf } from '../../lib/explain';
import { formatNumber } from '../../lib/format';
import { Failure } from '../../ui/feedback';
import { Chart } from './chart';
import { ExportMenu } from './export-menu';
import { Plan } from './plan';
import { ResultTable } from './result-table';
import pageStyles from '../../ui/page.module.css';
import textStyles from '../../ui/text.module.css';

export function SqlFailure({ error }: { error: Error }) {
  const { t } = useLanguages();
  if (error.name === 'AbortError') return <Alert m="md">{t('cancelled')}</Alert>;
  const location = error instanceof ApiError ? error.database?.location : null;
  return (
    <div className={pageStyles.page}>
      <Failure error={error} />
      {location ? (
        <Text size="xs" c="dimmed" mt={4}>
          {t('lineColumn', { line: location.line, column: location.column })}
        </Text>
      ) : null}
    </div>
  );
}

interface ResultProps {
  readonly answer: Schema<'SqlResponse'>;
  readonly ms: number;
  readonly project: Project;
}

type Rows = readonly Readonly<Record<string, unknown>>[];

interface StatementResult {
  readonly label: string;
  readonly columns: readonly string[];
  readonly rows: Rows;
  readonly truncated: boolean;
}

export function Result({ answer, ms, project }: ResultProps) {
  const { t, language } = useLanguages();
  const results = resultsOf(answer, language);
  const withRows = results.findLastIndex(({ rows }) => rows.length > 0);
  const [chosen, setChosen] = useState(withRows < 0 ? results.length - 1 : withRows);
  const one = results[chosen];
  return (
    <>
      {results.length < 2 || (one && planOf(one.rows)) ? null : (
        <Tabs
          value={String(chosen)}
          onChange={(value) => setChosen(Number(value))}
          px="md"
          pt={4}
          aria-label={t('statements')}
        >
          <Tabs.List>
            {results.map(({ label }, index) => (
              <Tabs.Tab key={index} value={String(index)} px="xs" py={6}>
                <Text span size="xs" fw={550}>{`${index + 1} · ${label}`}</Text>
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Tabs>
      )}
      {answer.notices.map((notice, index) => (
        <Alert key={index} mx="md" mt="xs" p="xs" variant="light" role="note">
          <Text size="xs" className={textStyles.wrap}>
            {notice}
          </Text>
        </Alert>
      ))}
      <StatementView
        key={chosen}
        result={one ?? { label: '–', columns: [], rows: [], truncated: false }}
        ms={ms}
        name={project.slug}
      />
    </>
  );
}

/** The response has the rows of the last statement at its top level. */
function resultsOf(answer: Schema<'SqlResponse'>, language: string): StatementResult[] {
  return answer.statements.map(({ command, row_count: count, columns, rows, truncated }, index) => {
    const isLast = index === answer.statements.length - 1;
    return {
      columns,
      label: `${command ?? '–'}${count === null ? '' : ` ${formatNumber(count, language)}`}`,
      rows: isLast ? answer.rows : (rows ?? []),
      truncated: isLast ? answer.truncated : (truncated ?? false),
    };
  });
}

interface StatementViewProps {
  readonly result: StatementResult;
  readonly ms: number;
  readonly name: string;
}

type Form = 'table' | 'chart' | 'plan';

/** Offers a chart if a column holds numbers, and a tree, which is shown first, if the rows are a plan. */
function StatementView({ result, ms, name }: StatementViewProps) {
  const { t, language } = useLanguages();
  const { label, columns, rows, truncated } = result;
  const plan = planOf(rows);
  const forms: readonly Form[] = [
    ...(plan ? (['plan'] as const) : []),
    'table',
    ...(!plan && chartOf(rows) ? (['chart'] as const) : []),
  ];
  const [chosen, setForm] = useState(forms[0]!);
  return (
    <>
      <Group gap="xs" px="md" py={6} mih={42}>
        {forms.length > 1 ? (
          <SegmentedControl
            size="xs"
            aria-label={t('result')}
            data={forms.map((form) => ({ value: form, label: t(`as_${form}`) }))}
            value={chosen}
            onChange={(value) => setForm(value)}
          />
        ) : null}
        <Badge variant="light" color="gray">
          {label}
        </Badge>
        <Text size="xs" c="dimmed">
          {t('tookMs', { ms: formatNumber(Math.round(ms), language) })}
        </Text>
        {truncated ? (
          <Badge color="orange" variant="light">
            {t('truncated', { count: formatNumber(rows.length, language) })}
          </Badge>
        ) : null}
        {columns.length > 0 ? <ExportMenu columns={columns} rows={rows} name={name} /> : null}
      </Group>
      {chosen === 'plan' && plan ? <Plan plan={plan} /> : null}
      {chosen === 'chart' ? <Chart rows={rows} /> : null}
      {chosen === 'table' && columns.length > 0 ? <ResultTable columns={columns} rows={rows} /> : null}
      {columns.length === 0 ? (
        <Text px="md" size="sm" c="dimmed">
          {t('noResultRows')}
        </Text>
      ) : null}
    </>
  );
}
