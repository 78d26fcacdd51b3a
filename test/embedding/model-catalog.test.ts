import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_MODEL_ID, loadCalibration, MODELS, modelById, resolveModelsPath } from '../../src/embedding/index.ts';

describe('the model catalogue', () => {
  it.each(MODELS)('has a whole row and a folder for $id', async (row) => {
    expect(row.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    const { calibration, problem } = await loadCalibration(row);
    expect(problem).toBeNull();
    expect(calibration.hybrid.slope).toBeGreaterThan(0);
    expect(calibration.lexical.slope).toBeGreaterThan(0);
    expect((await stat(join(resolveModelsPath(), row.folder, row.weights))).isFile()).toBe(true);
  });

  it('names each model once and knows the default', () => {
    expect(new Set(MODELS.map((row) => row.id)).size).toBe(MODELS.length);
    expect(modelById(DEFAULT_MODEL_ID).id).toBe(DEFAULT_MODEL_ID);
  });

  it('refuses an unknown model and says which there are', () => {
    expect(() => modelById('zh-en-tiny')).toThrow(
      expect.objectContaining({ code: 'AR_ERR_INVALID_CONFIG', suggestions: MODELS.map((row) => row.id) }),
    );
  });

  it('takes the folder it is given', () => {
    expect(resolveModelsPath('/srv/models')).toBe('/srv/models');
  });
});
