/** What a run of SQL answered: rows as a table or a chart, a plan as a tree, or a failure with its place. */
import { Alert, Badge, Group, SegmentedControl, Text } from '@mantine/core';
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
import { Plan } from './plan';
import { ResultTable } from './result-table';

export function SqlFailure({ error }: { error: Error }) {
  const { t } = useLanguages();
  if (error.name === 'AbortError') return <Alert m="md">{t('cancelled')}</Alert>;
  const location = error instanceof ApiError ? error.database?.location : null;
  return (
    <div className="page">
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
  readonly answer: Schema<'SqlAnswer'>;
  readonly ms: number;
  readonly isPlan: boolean;
  readonly project: Project;
}

export function Result({ answer, ms, isPlan, project }: ResultProps) {
  const { t, language } = useLanguages();
  const rows = answer.rows as Readonly<Record<string, unknown>>[];
  const plan = isPlan ? planOf(rows) : null;
  return (
    <>
      <Group gap="xs" px="md" py={6}>
        {answer.statements.map(({ command, row_count: count }, index) => (
          <Badge key={index} variant="light" color="gray" tt="none">
            {command ?? '–'}
            {count === null ? '' : ` ${formatNumber(count, language)}`}
          </Badge>
        ))}
        <Text size="xs" c="dimmed">
          {t('tookMs', { ms: formatNumber(Math.round(ms), language) })}
        </Text>
        {answer.truncated ? (
          <Badge color="orange" variant="light">
            {t('truncated', { count: formatNumber(rows.length, language) })}
          </Badge>
        ) : null}
      </Group>
      {answer.notices.map((notice, index) => (
        <Alert key={index} mx="md" mb="xs" p="xs" variant="light">
          <Text size="xs" className="wrap">
            {notice}
          </Text>
        </Alert>
      ))}
      {plan ? <Plan node={plan} /> : null}
      {!plan && rows.length > 0 ? <Rows rows={rows} name={project.slug} /> : null}
      {!plan && rows.length === 0 ? (
        <Text px="md" size="sm" c="dimmed">
          {t('noResultRows')}
        </Text>
      ) : null}
    </>
  );
}

interface RowsProps {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly name: string;
}

/** A chart is offered where a column holds numbers. */
function Rows({ rows, name }: RowsProps) {
  const { t } = useLanguages();
  const [form, setForm] = useState<'table' | 'chart'>('table');
  const canChart = chartOf(rows) !== null;
  return (
    <>
      {canChart ? (
        <SegmentedControl
          size="xs"
          w="fit-content"
          mx="md"
          mb={4}
          aria-label={t('result')}
          data={[
            { value: 'table', label: t('asTable') },
            { value: 'chart', label: t('asChart') },
          ]}
          value={form}
          onChange={(value) => setForm(value)}
        />
      ) : null}
      {canChart && form === 'chart' ? <Chart rows={rows} /> : <ResultTable rows={rows} name={name} />}
    </>
  );
}
