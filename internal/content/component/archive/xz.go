package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// xzReader decompresses xz: a header, blocks with LZMA2, and an index of them. The library would do
// so, too, but reserves the memory that a block asks for, up to 4 GiB: so each block is checked
// before. The end of a block is known only after its decompression.
type xzReader struct {
	from *bufio.Reader
	// sum is the kind of the checksums behind the blocks; nil for blocks without checksums.
	sum func() hash.Hash
	// block is what comes out of the block that has begun, packed counts what goes in.
	block  io.Reader
	packed *counter
	header int64
	hash   hash.Hash
	// out is how much has come out of the block, total of all; reserved is for how much
	// memory they have asked.
	out, total, reserved int64
	// index is what must be in the index: how many blocks, and their sizes together.
	index [3]uint64
	err   error
}

var (
	errXZ       = errors.New("decompress xz: the content is damaged, or has a form that is not known")
	errXZMemory = errors.New("decompress xz: the content asks for more than 64 MiB of memory, or uses a filter other than LZMA2")
	errXZBlocks = errors.New("decompress xz: the content has too many small blocks, each of which asks for memory of its own")
)

// maxReserved bounds the memory that blocks may request one after the other, beyond their output:
// clearing it costs time. Usual blocks hold more than they ask for.
const maxReserved = 16 * maxWindow

// openXZ decompresses xz.
func openXZ(content *bufio.Reader) (io.ReadCloser, error) {
	start, err := take(content, 12)
	if err != nil {
		return nil, err
	}
	if start[6] != 0 || crc32.ChecksumIEEE(start[6:8]) != binary.LittleEndian.Uint32(start[8:]) {
		return nil, errXZ
	}
	x := &xzReader{from: content}
	switch start[7] {
	case 0:
	case 1:
		x.sum = func() hash.Hash { return crc32.NewIEEE() }
	case 4:
		x.sum = func() hash.Hash { return crc64.New(crc64.MakeTable(crc64.ECMA)) }
	case 10:
		x.sum = sha256.New
	default:
		return nil, errXZ
	}
	// A content that cannot be decompressed at all is an error at once.
	if x.err = x.begin(); x.err != nil && !errors.Is(x.err, io.EOF) {
		return nil, x.err
	}
	return io.NopCloser(x), nil
}

// take reads as many bytes as are needed.
func take(from io.Reader, count int) ([]byte, error) {
	taken := make([]byte, count)
	if _, err := io.ReadFull(from, taken); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("decompress xz: %w", io.ErrUnexpectedEOF)
	} else if err != nil {
		return nil, fmt.Errorf("decompress xz: %w", err)
	}
	return taken, nil
}

// Read implements io.Reader.
func (x *xzReader) Read(p []byte) (int, error) {
	for x.err == nil {
		n, err := x.block.Read(p)
		x.out += int64(n)
		if x.sum != nil {
			_, _ = x.hash.Write(p[:n]) // a hash takes everything
		}
		switch {
		case errors.Is(err, io.EOF):
			if x.err = x.end(); x.err == nil {
				x.err = x.begin()
			}
		case err != nil:
			x.err = fmt.Errorf("decompress xz: %w", err)
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
	return 0, x.err // io.EOF as it is
}

// begin reads the header of a block, or the index, which is the end.
func (x *xzReader) begin() error {
	size, err := take(x.from, 1)
	if err != nil {
		return err
	}
	if size[0] == 0 {
		return x.finish()
	}
	rest, err := take(x.from, (int(size[0])+1)*4-1)
	if err != nil {
		return err
	}
	header, sum := append(size, rest[:len(rest)-4]...), rest[len(rest)-4:]
	if crc32.ChecksumIEEE(header) != binary.LittleEndian.Uint32(sum) {
		return errXZ
	}
	memory, err := memoryOf(header)
	if err != nil {
		return err
	}
	if memory > maxWindow {
		return errXZMemory
	}
	if x.reserved += memory; x.reserved > maxReserved+x.total {
		return errXZBlocks
	}
	x.packed, x.header, x.out = &counter{from: x.from}, int64(len(header)+len(sum)), 0
	if x.sum != nil {
		x.hash = x.sum()
	}
	if x.block, err = (lzma.Reader2Config{DictCap: int(max(memory, lzma.MinDictCap))}).NewReader2(x.packed); err != nil {
		return fmt.Errorf("decompress xz: %w", err)
	}
	return nil
}

// memoryOf returns how much memory a block asks for.
func memoryOf(header []byte) (int64, error) {
	flags, rest := header[1], header[2:]
	if flags&0x3f != 0 {
		return 0, errXZMemory // several filters
	}
	// The sizes of the block may come first. They are found out anyway.
	for _, present := range []byte{0x40, 0x80} {
		if flags&present == 0 {
			continue
		}
		_, length := binary.Uvarint(rest)
		if length <= 0 {
			return 0, errXZ
		}
		rest = rest[length:]
	}
	if len(rest) < 3 || rest[0] != 0x21 || rest[1] != 1 {
		return 0, errXZMemory
	}
	memory, err := lzma.DecodeDictCap(rest[2])
	if err != nil {
		return 0, errXZ
	}
	return memory, nil
}

// end reads what is behind a block: zeros up to four bytes, and the sum.
func (x *xzReader) end() error {
	if err := padding(x.from, x.packed.read); err != nil {
		return err
	}
	unpadded := x.header + x.packed.read
	if x.sum != nil {
		sum, err := take(x.from, x.hash.Size())
		if err != nil {
			return err
		}
		found := x.hash.Sum(nil)
		if len(found) <= 8 {
			reverse(found) // the lowest byte comes first
		}
		if !bytes.Equal(sum, found) {
			return errXZ
		}
		unpadded += int64(len(sum))
	}
	x.total += x.out
	x.index[0]++
	x.index[1] += uint64(unpadded) //nolint:gosec // a size is not below zero
	x.index[2] += uint64(x.out)    //nolint:gosec // a size is not below zero
	return nil
}

func reverse(sum []byte) {
	for i, j := 0, len(sum)-1; i < j; i, j = i+1, j-1 {
		sum[i], sum[j] = sum[j], sum[i]
	}
}

// padding reads the zeros that fill up four bytes.
func padding(from io.Reader, behind int64) error {
	zeros, err := take(from, int(-behind&3))
	if err == nil && !bytes.Equal(zeros, make([]byte, len(zeros))) {
		err = errXZ
	}
	return err
}

// finish reads the index and the end, so that the content is read as a whole; it returns
// io.EOF.
func (x *xzReader) finish() error {
	in := &counter{from: x.from, read: 1}
	number := func() (uint64, error) {
		number, err := binary.ReadUvarint(byteReader{in})
		if err != nil {
			return 0, errors.Join(errXZ, err)
		}
		return number, nil
	}
	count, err := number()
	if err != nil || count != x.index[0] {
		return errors.Join(errXZ, err)
	}
	for range count {
		for i := range x.index[1:] {
			size, err := number()
			if err != nil {
				return err
			}
			x.index[1+i] -= size
		}
	}
	if x.index[1] != 0 || x.index[2] != 0 {
		return errXZ
	}
	if err := padding(x.from, in.read); err != nil {
		return err
	}
	// The sum of the index, and the footer.
	if _, err := take(x.from, 4+12); err != nil {
		return err
	}
	if _, err := x.from.ReadByte(); err == nil {
		return errXZ // something is appended
	} else if !errors.Is(err, io.EOF) {
		return fmt.Errorf("decompress xz: %w", err)
	}
	return io.EOF
}

// byteReader reads single bytes and not one more.
type byteReader struct{ io.Reader }

// ReadByte implements io.ByteReader.
func (b byteReader) ReadByte() (byte, error) {
	one, err := take(b.Reader, 1)
	if err != nil {
		return 0, err
	}
	return one[0], nil
}
