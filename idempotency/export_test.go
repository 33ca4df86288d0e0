package idempotency

// ForgetEnded makes keys of another process of these: they have seen no key end.
func (k *Keys) ForgetEnded() {
	for i := range k.ended.marks {
		k.ended.marks[i].Store(0)
	}
}
