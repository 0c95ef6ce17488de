/** Draws a Mermaid diagram in the colours of the page; without scripts its source is shown. */
import { useData } from 'vitepress';
import { defineComponent, h, onMounted, ref, watch } from 'vue';

let drawn = 0;

export const Diagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup({ code }) {
    const source = decodeURIComponent(code);
    const svg = ref('');
    const failure = ref('');
    const { isDark } = useData();
    const draw = async (): Promise<void> => {
      const dark = isDark.value;
      try {
        const { default: mermaid } = await import('mermaid');
        mermaid.initialize({
          startOnLoad: false,
          securityLevel: 'strict',
          theme: dark ? 'dark' : 'neutral',
          fontFamily: 'inherit',
          flowchart: { useMaxWidth: true },
        });
        const result = await mermaid.render(`diagram-${++drawn}`, source);
        // Another scheme was chosen meanwhile: that drawing is on its way.
        if (dark === isDark.value) svg.value = result.svg;
      } catch (error) {
        failure.value = error instanceof Error ? error.message : String(error);
      }
    };
    onMounted(draw);
    watch(isDark, draw);
    return () =>
      svg.value === ''
        ? h('pre', { class: 'diagram-source', 'data-failure': failure.value || undefined }, source)
        : h('div', { class: 'diagram', role: 'img', innerHTML: svg.value });
  },
});
