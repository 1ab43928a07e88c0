package descriptor

import "reflect"

// Size estimates what a descriptor takes in memory: elements without content take a hundred times their
// text.
func (d *Descriptor) Size() int64 { return sizeOf(reflect.ValueOf(d)) }

func sizeOf(v reflect.Value) int64 {
	switch v.Kind() {
	case reflect.String:
		return int64(v.Type().Size()) + int64(v.Len())
	case reflect.Slice:
		size := int64(v.Type().Size())
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return size + int64(v.Len())
		}
		for i := range v.Len() {
			size += sizeOf(v.Index(i))
		}
		return size
	case reflect.Map:
		size := int64(v.Type().Size())
		for entries := v.MapRange(); entries.Next(); {
			size += sizeOf(entries.Key()) + sizeOf(entries.Value())
		}
		return size
	case reflect.Struct:
		size := int64(0)
		for i := range v.NumField() {
			size += sizeOf(v.Field(i))
		}
		return size
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return int64(v.Type().Size()) + sizeOf(v.Elem())
		}
	}
	return int64(v.Type().Size())
}
