package access

import (
	"bytes"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"go.landscaper.dev/internal/content/component/archive"
)

// checkPack refuses a pack that would unpack to more than the limit, or to more objects.
// A difference says how large its result is in its first bytes.
func checkPack(pack []byte, limit int64, objects uint32) error {
	scanner := packfile.NewScanner(bytes.NewReader(pack))
	_, count, err := scanner.Header()
	if err != nil {
		return fmt.Errorf("unpack what the server sent: %w", err)
	}
	if count > objects {
		return &archive.TooLargeError{What: "the number of objects of the repository", Limit: int64(objects)}
	}
	var total int64
	for range count {
		header, err := scanner.NextObjectHeader()
		if err != nil {
			return fmt.Errorf("unpack what the server sent: %w", err)
		}
		seen := &beginning{left: limit - total}
		if _, _, err := scanner.NextObject(seen); err != nil {
			return fmt.Errorf("unpack what the server sent: %w", err)
		}
		total += seen.size
		if header.Type.IsDelta() {
			result := resultOf(seen.bytes)
			if result < 0 || result > limit-total {
				return &archive.TooLargeError{What: "the unpacked number of bytes", Limit: limit}
			}
			total += result
		}
	}
	return nil
}

// beginning keeps the first bytes of an object and counts all of them.
type beginning struct {
	bytes []byte
	size  int64
	left  int64
}

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	if missing := 32 - len(b.bytes); missing > 0 {
		b.bytes = append(b.bytes, p[:min(missing, len(p))]...)
	}
	if b.size += int64(len(p)); b.size > b.left {
		return 0, &archive.TooLargeError{What: "the unpacked number of bytes", Limit: b.left}
	}
	return len(p), nil
}

// resultOf reads the size of the result of a difference: the second of two
// numbers of seven bits for each byte, the lowest first.
func resultOf(start []byte) int64 {
	var number int64
	at, shift := 0, 0
	for _, b := range start {
		if at == 1 {
			if shift > 56 {
				return -1
			}
			number |= int64(b&0x7f) << shift
			shift += 7
		}
		if b&0x80 == 0 {
			if at++; at == 2 {
				return number
			}
		}
	}
	return -1
}
