package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/content/component/repository"
)

// content is what is to be stored: in memory, or in a temporary file if it may be
// large.
type content struct {
	bytes     io.ReaderAt
	size      int64
	digest    digest.Digest
	mediaType string
	// artifact is the digest of an image.
	artifact string
	// name is how an artifact is called where it is stored as one.
	name string
	// release gives up what the content holds; nil if that is nothing.
	release func() error
}

func inMemory(data []byte, mediaType string) content {
	return content{bytes: bytes.NewReader(data), size: int64(len(data)), digest: digest.FromBytes(data), mediaType: mediaType}
}

// spooled puts a content into a temporary file: its digest is known only at its end, and is needed
// before the content is written elsewhere.
func spooled(blob *repository.Blob) (content, error) {
	file, err := os.CreateTemp("", "landscaper-content-")
	if err != nil {
		return content{}, fmt.Errorf("keep a content: %w", err)
	}
	release := func() error { return errors.Join(file.Close(), os.Remove(file.Name())) }
	c := content{bytes: file, mediaType: blob.MediaType, artifact: blob.Digest, release: release}
	sum := digest.SHA256.Digester()
	if c.size, err = io.Copy(io.MultiWriter(file, sum.Hash()), blob); err != nil {
		return content{}, errors.Join(err, c.Close())
	}
	c.digest = sum.Digest()
	return c, nil
}

// fromFile reads a file of the user where it is. If the file changes meanwhile, the receiver finds
// that the content does not have its digest.
func fromFile(name, mediaType string) (content, error) {
	file, err := os.Open(name) // the user named it
	if err != nil {
		return content{}, fmt.Errorf("open: %w", err)
	}
	c := content{bytes: file, mediaType: mediaType, release: file.Close}
	sum := digest.SHA256.Digester()
	if c.size, err = io.Copy(sum.Hash(), file); err != nil {
		return content{}, errors.Join(fmt.Errorf("read %s: %w", name, err), c.Close())
	}
	c.digest = sum.Digest()
	return c, nil
}

// Close gives up what the content holds.
func (c content) Close() error {
	if c.release == nil {
		return nil
	}
	return c.release()
}

// reader reads a part of the content.
func (c content) reader(from, size int64) io.Reader {
	return io.NewSectionReader(c.bytes, from, min(size, c.size-from))
}
