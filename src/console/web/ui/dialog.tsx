/** A modal dialog: keeps the focus inside, closes by Escape, and returns the focus. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

export const Dialog = ({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) => {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const gone = useRef(false);
  useEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    // The browser returns the focus only where the dialog is closed before it is removed.
    return () => {
      gone.current = true;
      dialog?.close();
      const target = before?.isConnected ? before : document.getElementById('main');
      if (target instanceof HTMLElement) target.focus();
    };
  }, []);
  const closed = (): void => {
    if (!gone.current) onClose();
  };
  return (
    <dialog ref={element} class="dialog" aria-labelledby={id} onClose={closed}>
      <div class="inside">
        <div class="row spread">
          <h2 id={id}>{title}</h2>
          <Button kind="quiet" small label="Close" onClick={() => element.current?.close()}>
            ✕
          </Button>
        </div>
        {children}
      </div>
    </dialog>
  );
};

/** Asks before something that cannot be undone. */
export const ConfirmDialog = ({
  title,
  children,
  action,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  /** What the button says. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) => (
  <Dialog title={title} onClose={onClose}>
    <div>{children}</div>
    <div class="row">
      <Button
        kind="danger"
        onClick={() => {
          onConfirm();
          onClose();
        }}
      >
        {action}
      </Button>
      <Button onClick={onClose}>Keep it</Button>
    </div>
  </Dialog>
);
