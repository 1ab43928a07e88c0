// Package archive reads and writes archives. Archives to be read count as hostile: sizes, numbers
// of files and depths are bounded, and nothing touches the file system of the host.
package archive

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a decompressor may take.
const maxWindow = 64 << 20

// Decompress returns the content behind a compression that its first bytes identify: gzip, bzip2,
// xz, zstd or no compression.
func Decompress(content io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReaderSize(content, 4096)
	// A short content has fewer bytes; that is no error.
	start, err := buffered.Peek(32)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the start of the content: %w", err)
	}
	switch {
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("decompress gzip: %w", err)
		}
		return unzipped, nil
	case bytes.HasPrefix(start, []byte("BZh")):
		return io.NopCloser(bzip2.NewReader(buffered)), nil
	case bytes.HasPrefix(start, []byte{0xfd, '7', 'z', 'X', 'Z', 0}):
		return openXZ(buffered)
	case bytes.HasPrefix(start, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		decoder, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, fmt.Errorf("decompress zstd: %w", err)
		}
		return decoder.IOReadCloser(), nil
	}
	return io.NopCloser(buffered), nil
}
