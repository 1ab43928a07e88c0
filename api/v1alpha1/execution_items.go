package v1alpha1

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// plainItemsLimit is the size of a JSON text up to which deploy items are
	// stored in plain form, which everybody can read.
	plainItemsLimit = 128 << 10
	// decompressedItemsLimit bounds what a compressed list may expand to, and freelyDecompressed up to
	// which size the ratio does not count. Above it, deploy items that a template has rendered have a
	// ratio of 10 to 30; only a text that is made for it has one of 1000.
	decompressedItemsLimit = 32 << 20
	freelyDecompressed     = 8 << 20
	maxItemsRatio          = 64
	// maxItems bounds the number of deploy items, because the shortest one takes 3 bytes and a hundred
	// times as much memory; maxItemSize the text of one: it becomes an object, which has at most 1.5 MB.
	maxItems    = 10_000
	maxItemSize = 4 << 20
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
	limit := itemsLimit(len(s.DeployItemsCompressed))
	items, err := decodeItems(&io.LimitedReader{R: reader, N: int64(limit) + 1}, limit)
	if err != nil {
		return nil, fmt.Errorf("spec.deployItemsCompressed: %w", err)
	}
	return items, nil
}

// itemsLimit is what a compressed list of so many bytes may expand to.
func itemsLimit(compressed int) int {
	return min(decompressedItemsLimit, max(freelyDecompressed, maxItemsRatio*compressed))
}

// decodeItems reads a list element by element, so that no more of it is in memory than the deploy items.
func decodeItems(from *io.LimitedReader, limit int) (items DeployItemTemplateList, err error) {
	decoder := json.NewDecoder(from)
	failed := func(err error) error {
		if from.N == 0 {
			return fmt.Errorf("more than %d bytes after decompression: distribute the deploy items over several Installations", limit)
		}
		return fmt.Errorf("decode deploy items: %w", err)
	}
	switch start, err := decoder.Token(); {
	case err != nil:
		return nil, failed(err)
	case start == nil:
		return nil, nil
	case start != json.Delim('['):
		return nil, failed(errors.New("it is not a list"))
	}
	for decoder.More() {
		var item DeployItemTemplate
		begin := decoder.InputOffset()
		if err := decoder.Decode(&item); err != nil {
			return nil, failed(err)
		}
		if decoder.InputOffset()-begin > maxItemSize {
			return nil, fmt.Errorf("deploy item %d is longer than %d bytes", len(items), maxItemSize)
		}
		if items = append(items, item); len(items) > maxItems {
			return nil, fmt.Errorf("more than %d deploy items: distribute them over several Installations", maxItems)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, failed(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, failed(errors.New("something follows the list"))
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
	if limit := itemsLimit(compressed.Len()); len(raw) > limit || len(items) > maxItems {
		return fmt.Errorf("%d deploy items have %d bytes, at most %d deploy items and %d bytes can be stored: distribute them over several Installations", len(items), len(raw), maxItems, limit)
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
