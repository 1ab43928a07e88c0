package crashnote

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
)

const (
	// slotsFile has a slot for each attempt that runs.
	slotsFile = "running"
	// slotSize is more than the longest key takes: names have at most 253 bytes, namespaces 63.
	slotSize = 512
)

// slots are the notes of the attempts that run: a file with places of one size, each written with one
// call. The owner has a lock.
type slots struct {
	directory *os.Root
	file      *os.File
	// unused are the slots that may be taken, and count is how many there are.
	unused []int
	count  int
}

// openSlots opens the file, and returns what the process before has left there.
func openSlots(directory *os.Root) (s *slots, left []Key, err error) {
	file, err := directory.OpenFile(slotsFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err // names the file
	}
	raw, err := io.ReadAll(file)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close()) // names the file
	}
	for ; len(raw) > 0; raw = raw[min(slotSize, len(raw)):] {
		var key Key
		text := bytes.TrimRight(raw[:min(slotSize, len(raw))], "\x00")
		if json.Unmarshal(text, &key) == nil && key != (Key{}) {
			left = append(left, key)
		}
	}
	return &slots{directory: directory, file: file}, left, nil
}

// erase empties all slots.
func (s *slots) erase() error {
	s.unused, s.count = nil, 0
	return s.file.Truncate(0)
}

// note writes a key into a slot, and returns the slot; -1 if that is not possible.
func (s *slots) note(key Key) int {
	text, err := json.Marshal(key)
	if err != nil || len(text) > slotSize {
		return -1
	}
	slot := s.count
	if last := len(s.unused) - 1; last >= 0 {
		slot, s.unused = s.unused[last], s.unused[:last]
	} else {
		s.count++
	}
	var place [slotSize]byte
	copy(place[:], text)
	_, _ = s.file.WriteAt(place[:], int64(slot)*slotSize)
	return slot
}

// free empties a slot.
func (s *slots) free(slot int) {
	if slot < 0 {
		return
	}
	var place [slotSize]byte
	_, _ = s.file.WriteAt(place[:], int64(slot)*slotSize)
	s.unused = append(s.unused, slot)
}

func (s *slots) close() error { return errors.Join(s.file.Close(), s.directory.Close()) }
