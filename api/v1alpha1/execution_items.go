package v1alpha1

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
)

const (
	// plainItemsLimit is the size of a JSON text up to which deploy items are
	// stored in plain form, which everybody can read.
	plainItemsLimit = 128 << 10
	// decompressedItemsLimit bounds what a compressed list may expand to.
	decompressedItemsLimit = 64 << 20
)

// Items returns the deploy items of either form.
func (s *ExecutionSpec) Items() (DeployItemTemplateList, error) {
	if len(s.DeployItemsCompressed) == 0 {
		return s.DeployItems, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(s.DeployItemsCompressed))
	if err != nil {
		return nil, fmt.Errorf("spec.deployItemsCompressed: open gzip stream: %w", err)
	}
	limited := &io.LimitedReader{R: reader, N: decompressedItemsLimit + 1}
	raw, err := io.ReadAll(limited)
	if err != nil {
		return nil, fmt.Errorf("spec.deployItemsCompressed: decompress: %w", err)
	}
	if limited.N == 0 {
		return nil, fmt.Errorf("spec.deployItemsCompressed: more than %d bytes after decompression", decompressedItemsLimit)
	}
	var items DeployItemTemplateList
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, fmt.Errorf("spec.deployItemsCompressed: decode deploy items: %w", err)
	}
	return items, nil
}

// SetItems stores deploy items in plain form. It compresses them if there are so
// many that the object would come near the size limit of the API server, or if an
// item has no typed configuration, which the schema of the plain form demands.
func (s *ExecutionSpec) SetItems(items DeployItemTemplateList) error {
	s.DeployItems, s.DeployItemsCompressed = items, nil
	if len(items) == 0 {
		s.DeployItems = nil
		return nil
	}
	raw, err := json.Marshal(items)
	if err != nil {
		return fmt.Errorf("encode deploy items: %w", err)
	}
	if len(raw) <= plainItemsLimit && items.fitSchema() {
		return nil
	}
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	if _, err := writer.Write(raw); err != nil {
		return fmt.Errorf("compress deploy items: %w", err)
	}
	if err := writer.Close(); err != nil {
		return fmt.Errorf("compress deploy items: %w", err)
	}
	s.DeployItems, s.DeployItemsCompressed = nil, compressed.Bytes()
	return nil
}

// fitSchema reports whether the schema of the plain form admits the items. An item
// without a valid configuration must still reach its deployer, which reports it.
func (l DeployItemTemplateList) fitSchema() bool {
	for i := range l {
		var config struct{ APIVersion, Kind string }
		if l[i].Configuration == nil || json.Unmarshal(l[i].Configuration.Raw, &config) != nil || config.APIVersion == "" || config.Kind == "" {
			return false
		}
	}
	return true
}
