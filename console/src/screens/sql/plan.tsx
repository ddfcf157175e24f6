/** A plan as a tree; the bar is the share of the node in the total. */
import { Text } from '@mantine/core';
import { useLanguages } from '../../i18n';
import type { PlanNode, QueryPlan } from '../../lib/explain';
import { formatNumber } from '../../lib/format';
import styles from './plan.module.css';
import textStyles from '../../ui/text.module.css';

export function Plan({ plan: { root, planning, execution } }: { plan: QueryPlan }) {
  const { t } = useLanguages();
  return (
    <>
      {planning === null || execution === null ? null : (
        <Text size="sm" px="md">
          {t('planTimes', { planning: planning.toFixed(2), execution: execution.toFixed(2) })}
        </Text>
      )}
      <ul className={styles.plan} aria-label={t('plan')}>
        <Node node={root} />
      </ul>
    </>
  );
}

function Node({ node }: { node: PlanNode }) {
  const { t, language } = useLanguages();
  const rows = node.actualRows ?? node.rows;
  return (
    <li>
      <div className={styles.node}>
        <div className={styles.bar} style={{ width: `${Math.max(1, node.share * 100)}%` }} />
        <Text size="sm" fw={550} className={textStyles.wrap}>
          {node.title}
        </Text>
        <Text size="xs" c="dimmed">
          {t('planRows', { count: formatNumber(rows, language) })}
          {node.ms === null ? '' : ` · ${node.ms.toFixed(2)} ms`}
          {` · ${Math.round(node.share * 100)} %`}
        </Text>
        {node.isMisjudged ? (
          <Text size="xs" c="orange">
            {t('planEstimate', { count: formatNumber(node.rows, language) })}
          </Text>
        ) : null}
        {node.detail === '' ? null : (
          <Text size="xs" ff="monospace" className={textStyles.wrap}>
            {node.detail}
          </Text>
        )}
      </div>
      {node.children.length > 0 ? (
        <ul>
          {node.children.map((child, index) => (
            <Node key={index} node={child} />
          ))}
        </ul>
      ) : null}
    </li>
  );
}
