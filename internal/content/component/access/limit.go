package access

import (
	"errors"
	"io"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/repository"
)

// limited ends a content that is larger than the reader allows: at once if its
// size is known.
func (r *Reader) limited(blob *repository.Blob) (*repository.Blob, error) {
	if r.MaxBytes <= 0 {
		return blob, nil
	}
	if blob.Size > r.MaxBytes {
		return nil, errors.Join(tooLarge(r.MaxBytes), blob.Close())
	}
	blob.ReadCloser = &capped{ReadCloser: blob.ReadCloser, limit: r.MaxBytes}
	return blob, nil
}

func tooLarge(limit int64) error {
	return &archive.TooLargeError{What: "the number of bytes of the content", Limit: limit}
}

// capped ends a content that is longer than the limit.
type capped struct {
	io.ReadCloser
	read, limit int64
}

// Read implements io.Reader.
func (c *capped) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if c.read += int64(n); c.read > c.limit {
		return 0, tooLarge(c.limit)
	}
	return n, err // a reader returns io.EOF unwrapped
}

// reported reports how much of a content has been read.
func (r *Reader) reported(blob *repository.Blob, resource string) *repository.Blob {
	if r.Progress != nil {
		blob.ReadCloser = &reporting{ReadCloser: blob.ReadCloser, report: func(done int64) { r.Progress(resource, done, blob.Size) }}
	}
	return blob
}

type reporting struct {
	io.ReadCloser
	done   int64
	report func(done int64)
}

// Read implements io.Reader.
func (r *reporting) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if n > 0 {
		r.done += int64(n)
		r.report(r.done)
	}
	return n, err // a reader returns io.EOF unwrapped
}
