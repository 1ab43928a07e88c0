package archive

import (
	"errors"
	"fmt"
	"io"

	"go.landscaper.dev/internal/base/memfs"
)

// Limits bound what is read from an archive.
type Limits struct {
	// Bytes is how much all files may have together.
	Bytes int64
	// Files is how many entries there may be.
	Files int
	// Ratio is how many bytes may come out for each byte that goes in.
	Ratio int64
	// Depth is how many directories a file may be in.
	Depth int
	// Book gets the number of all bytes that a decompressor returns, and ends the reading by an error; nil counts
	// nothing.
	Book func(bytes int64) error
}

// DefaultLimits are far above what blueprints and charts have.
func DefaultLimits() Limits {
	return Limits{Bytes: 64 << 20, Files: 10_000, Ratio: 1000, Depth: 64}
}

// ratioFloor is how much may come out whatever went in: small contents compress
// well without being an attack.
const ratioFloor = 1 << 20

// TooLargeError says that something exceeds a limit.
type TooLargeError = memfs.LimitError

// ErrBusy says that others have unpacked too much at the same time: another attempt may succeed.
var ErrBusy = errors.New("too many large contents are in work at the same time")

// ReadAll reads a content completely if it has at most the given number of bytes.
func ReadAll(content io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(content, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the content: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, &TooLargeError{What: "the number of bytes", Limit: limit}
	}
	return data, nil
}

// counter counts what goes through it.
type counter struct {
	from io.Reader
	read int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.read += int64(n)
	return n, err // a reader returns io.EOF unwrapped
}

// bounded passes the output of a decompressor as long as it keeps the limits.
type bounded struct {
	from   io.Reader
	in     *counter
	limits Limits
	out    int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.out += int64(n)
	// Headers and padding of the archive come on top of the files.
	if most := 2*b.limits.Bytes + 2048*int64(b.limits.Files); b.out > most {
		return 0, &TooLargeError{What: "the unpacked number of bytes", Limit: b.limits.Bytes}
	}
	if b.out > ratioFloor && b.out > b.limits.Ratio*max(b.in.read, 1) {
		return 0, &TooLargeError{What: "the ratio of unpacked to packed bytes", Limit: b.limits.Ratio}
	}
	if b.limits.Book != nil && n > 0 {
		if err := b.limits.Book(int64(n)); err != nil {
			return 0, err // it says what is used up
		}
	}
	return n, err // a reader returns io.EOF unwrapped
}

// Open decompresses a content while it is read, as long as it keeps the limits.
func Open(content io.Reader, limits Limits) (io.ReadCloser, error) {
	in := &counter{from: content}
	unpacked, err := Decompress(in)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{&bounded{from: unpacked, in: in, limits: limits}, unpacked}, nil
}

// Inflate decompresses a content into memory.
func Inflate(content io.Reader, limits Limits) ([]byte, error) {
	unpacked, err := Open(content, limits)
	if err != nil {
		return nil, err
	}
	defer unpacked.Close() //nolint:errcheck // nothing is written
	return ReadAll(unpacked, limits.Bytes)
}
