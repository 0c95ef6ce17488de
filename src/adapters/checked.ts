/** Checks that a service responds, and closes it when it does not. */
export const checked = async <S extends { check(): Promise<void>; close(): Promise<void> }>(
  service: S,
): Promise<S> => {
  try {
    await service.check();
    return service;
  } catch (error) {
    await service.close();
    throw error;
  }
};
